"""What a configuration says about what packets carry: segments, traces, source routes, locators."""
