"""HTTP: the one client, politeness towards hosts, and the stage that fetches pages."""
