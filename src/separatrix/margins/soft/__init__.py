"""The soft margin: hinge loss with a certified duality gap."""
