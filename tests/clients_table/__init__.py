"""Which releases of clients work directly, relayed and hosted, at which brokers: the table of docs/clients.md."""
