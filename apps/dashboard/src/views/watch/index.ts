/** The lazy chunk of usage, logs and checks: the first view does not load it. */
export { Doctor } from "./doctor.tsx";
export { Logs } from "./logs.tsx";
export { Usage } from "./usage.tsx";
