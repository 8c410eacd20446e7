/** The used part of the library, in a lazily fetched file. */
export { startAuthentication, startRegistration } from "@simplewebauthn/browser";
