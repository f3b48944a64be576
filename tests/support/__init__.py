"""What tests share: processes, sockets, real clients, and brokers that misbehave."""
