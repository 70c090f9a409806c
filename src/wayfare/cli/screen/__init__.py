"""The terminal session: it draws what events tell and hands on what is typed; it holds no truth."""
