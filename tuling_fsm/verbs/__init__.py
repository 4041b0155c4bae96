"""The verbs of the command line, a module a subject. Each imports what it needs only when it is called."""
