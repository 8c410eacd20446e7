/** `@svc/gateway/control`: both ends of the control socket. Light: a command that only asks the daemon loads no server. */
export * from "./client.ts";
export * from "./server.ts";
