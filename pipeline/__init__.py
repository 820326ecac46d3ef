"""The application: reads the configuration, joins the stages, runs them, reports."""

__version__ = "0.1.0"
