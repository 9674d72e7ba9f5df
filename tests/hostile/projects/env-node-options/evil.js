require('fs').writeFileSync('ran-node-options', '');
