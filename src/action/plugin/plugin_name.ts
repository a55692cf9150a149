/** What the name of a plugin is made of, so that it leads to no other folder. */
export const PLUGIN_NAME = /^[A-Za-z0-9_-]+$/;
