"""VERDICTS -> CLUSTERS: the order of keeping, stars, components, mirrored hosts."""
