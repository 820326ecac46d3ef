"""Which articles are copies of one story, edited ones too: the table ``stories``."""
