"""The soak: good and hostile clients, failovers and reloads for a long time, in which nothing may grow or be lost."""
