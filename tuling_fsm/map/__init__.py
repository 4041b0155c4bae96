"""Maps: the OpenDRIVE reader, the lane map it gives, routes over it, and what a route meets."""
