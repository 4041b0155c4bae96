"""A run as a film: a bag as one page that plays in any browser, without a server and without a network."""
