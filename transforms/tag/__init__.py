"""Topics with their evidence: taxonomy, matching, score."""
