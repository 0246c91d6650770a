"""The configuration of one switch: its form (`model`) and how a file becomes one (`load`)."""

from wayname.config.load import ConfigError, load_config, parse_config
from wayname.config.model import Config

__all__ = ["Config", "ConfigError", "load_config", "parse_config"]
