"""What is read, and how it becomes rows."""
