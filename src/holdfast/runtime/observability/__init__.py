"""How this process is: whether it can do its work, and its figures. For a server and for the probe of a worker."""
