"""What the user wants: ``values`` (single values), ``model`` (the whole), ``feeds`` (lists of feeds), ``load``."""
