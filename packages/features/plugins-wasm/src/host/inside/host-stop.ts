/** Thrown by a function of the host where it won't go on; the sentence is for whoever called the plugin. */
export class HostStop extends Error {}
