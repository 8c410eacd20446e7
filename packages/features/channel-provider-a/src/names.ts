/** The channel's id: the last part of the section's name. */
export const CHANNEL = "provider_a";

/** Every request says which of the platform's products it is meant for. */
export const PRODUCT = "whatsapp";
