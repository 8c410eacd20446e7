/** The used part of the library, as a lazy chunk. */
export { startAuthentication, startRegistration } from "@simplewebauthn/browser";
