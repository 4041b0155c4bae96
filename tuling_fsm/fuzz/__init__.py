"""Bad input, searched for by machines: readers, messages and ticks are given what nobody should send them."""
