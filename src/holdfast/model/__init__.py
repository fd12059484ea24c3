"""What things are: frozen data and pure questions. Nothing here knows how it runs or where it is kept."""
