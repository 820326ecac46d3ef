"""Pages and texts to articles: text, metadata, language."""
