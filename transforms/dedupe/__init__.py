"""What is known already: state of earlier runs, identity of articles."""
