/** The lazy chunk of the settings: the first view does not load it. */
export { AllSettings, OneSection } from "./all-settings.tsx";
export { Changes } from "./saved-changes.tsx";
export { ChannelSettings, OneChannel } from "./channels.tsx";
export { ModelSettings } from "./model.tsx";
export { Setup } from "./setup.tsx";
