"""What a run leaves behind: its log, `result.json`, `pictures.html`."""
