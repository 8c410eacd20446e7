/** What is used of the library, in a file of the page's that is fetched late. */
export { startAuthentication, startRegistration } from "@simplewebauthn/browser";
