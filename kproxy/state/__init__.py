"""The state that must survive a restart: values by table and key, in memory or in an SQLite file."""
