"""Relays one client connection and one broker connection: frames stay in order and are rewritten only where needed.

`in_flight`, `flow`, `requests`, `responses`, `local_responses`, `broker_dialogue` and `apis/` own no socket and no
clock: bytes and the time come in, bytes go out through an `Outlet`. `endpoint`, `connection`, `pump` and `acceptor`
move bytes between the sockets and these flows.
"""
