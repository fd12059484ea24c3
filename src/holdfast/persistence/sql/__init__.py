"""SQL stores: statements are written once, as scripts without I/O, and a driver per database runs them."""
