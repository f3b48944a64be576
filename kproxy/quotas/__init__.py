"""Byte rates of principals: who produces or fetches more than its share is told to wait, and is read later."""
