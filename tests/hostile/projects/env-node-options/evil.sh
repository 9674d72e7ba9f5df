touch ran-bash-env
