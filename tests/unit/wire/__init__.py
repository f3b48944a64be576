"""The wire by itself, byte by byte."""
