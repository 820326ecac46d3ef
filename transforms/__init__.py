"""What happens to a piece of news, from a feed entry or a seed file to rows of the dataset."""
