"""What runners need that pip does not bring: where it is, and whether it is there."""
