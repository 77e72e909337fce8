"""The playground's web server and the processes that compute for it."""
