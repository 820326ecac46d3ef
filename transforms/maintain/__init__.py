"""Work on a dataset that is there already: verify, compact, prune, retag, replay. All of it by committed runs."""
