/** Run by vitest before each test file: the seed of all property tests, and the cases of those that name no number. */
import { configureGlobal } from "fast-check";
import { cases } from "./cases.ts";

const USUAL_CASES = 100;

configureGlobal({ numRuns: cases(USUAL_CASES), seed: Number(process.env["SVC_SEED"]) });
