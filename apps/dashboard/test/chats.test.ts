// The list of conversations and the message box in a real browser.
import { commandCases } from "./cases/commands.ts";
import { emptyStartCases } from "./cases/empty-start.ts";
import { chatListCases } from "./cases/chat-list.ts";
import { modelErrorCases } from "./cases/model-errors.ts";
import { accessibilityCases } from "./cases/accessibility.ts";
import { sharedScene } from "./fixture/scene.ts";

const scene = sharedScene();

chatListCases(scene);
emptyStartCases(scene);
commandCases(scene);
modelErrorCases(scene);
accessibilityCases(scene);
