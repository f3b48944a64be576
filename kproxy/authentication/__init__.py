"""How clients authenticate to kproxy: what each SASL mechanism says of who they are."""
