"""What must survive a restart: tables of values by key, in memory or in a file."""
