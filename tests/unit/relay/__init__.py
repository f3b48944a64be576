"""The relay, without and with sockets."""
