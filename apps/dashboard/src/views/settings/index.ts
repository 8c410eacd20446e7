/** Loaded when somebody opens the settings: the first view does without them. */
export { AllSettings, OneSection } from "./all-settings.tsx";
export { Changes } from "./changes.tsx";
export { ChannelSettings, OneChannel } from "./channels.tsx";
export { ModelSettings } from "./model.tsx";
export { Setup } from "./setup.tsx";
