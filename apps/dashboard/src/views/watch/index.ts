/** Loaded when somebody opens one of them: the first view does without. */
export { Doctor } from "./doctor.tsx";
export { Logs } from "./logs.tsx";
export { Usage } from "./usage.tsx";
