//! The tree of instances: which parsers, controls and extern objects `main` holds, with their control-plane names.
