// Starts the launch configuration `flag` of the folder that is open, and writes what the adapter says to the
// file that the variable TOLD names: one message a line.
const fs = require('fs');
const vscode = require('vscode');

exports.activate = async () => {
    const tell = (what) => fs.appendFileSync(process.env.TOLD, JSON.stringify(what) + '\n');
    tell({ version: vscode.version, loaded: Boolean(vscode.extensions.getExtension('pellucid.pellucid-debug')) });
    vscode.debug.registerDebugAdapterTrackerFactory('pellucid', {
        createDebugAdapterTracker: () => ({
            onDidSendMessage: tell,
            onError: (error) => tell({ error: String(error) }),
        }),
    });
    tell({ started: await vscode.debug.startDebugging(vscode.workspace.workspaceFolders[0], 'flag') });
};
