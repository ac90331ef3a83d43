"""Is the gain personal? Interventions on profiles, and the audit of matched records."""
