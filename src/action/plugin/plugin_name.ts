/** The characters of a plugin name, none of which leads to another directory. */
export const PLUGIN_NAME = /^[A-Za-z0-9_-]+$/;
