// The list of conversations and the composer in a real browser: what is around a chat.
import { commandCases } from "./cases/commands.ts";
import { emptyStartCases } from "./cases/empty-start.ts";
import { homeCases } from "./cases/home.ts";
import { modelErrorCases } from "./cases/model-errors.ts";
import { reachCases } from "./cases/reach.ts";
import { sharedScene } from "./fixture/scene.ts";

const scene = sharedScene();

homeCases(scene);
emptyStartCases(scene);
commandCases(scene);
modelErrorCases(scene);
reachCases(scene);
