//! The real Claude Code CLI against the mock Messages API: first alone, then under Deskbell's engine.
//!
//! Needs `DESKBELL_TEST_CLAUDE`, and for the tests of the engine a built `deskbell`. A smaller set, named `old::…`,
//! runs on the version that `DESKBELL_TEST_CLAUDE_OLD` names: npm installs it where Node is older. A run plays half of that
//! set, chosen by its seed, and all that is about trust.

mod answers;
mod api;
mod asking;
mod attachments;
mod background;
mod commands;
#[cfg(unix)]
mod configuration;
#[cfg(unix)]
mod cost;
#[cfg(unix)]
mod crash;
#[cfg(unix)]
mod doctor;
#[cfg(target_os = "linux")]
mod far;
mod fork;
#[cfg(unix)]
mod forms;
mod front_matter;
#[cfg(target_os = "linux")]
mod hibernation;
#[cfg(unix)]
mod hooks;
mod hostile;
#[cfg(unix)]
mod imports;
#[cfg(unix)]
mod inbox;
#[cfg(target_os = "linux")]
mod login_shells;
mod options;
mod overhead;
mod owner;
mod permissions;
mod plugins;
mod protocol;
mod queue;
mod recordings;
mod removed_rules;
mod rewind;
mod rules;
#[cfg(target_os = "linux")]
mod schedules;
mod settings;
mod side_questions;
mod stored;
mod tools;
mod trust;
mod turns;

use deskbell_tests::real_cli::Cli;
use deskbell_tests::suite::Requirement;
use deskbell_tests::{relay, suite, tests};
use std::time::Duration;

fn main() {
    let mut alone = tests![protocol:
        initialize_is_answered_before_any_prompt,
        a_prompt_streams_its_answer,
        thinking_comes_before_the_answer,
        an_allowed_tool_runs,
        a_denied_tool_does_not_run_and_the_model_hears_why,
        a_rule_for_project_and_session_is_not_asked_again,
        a_rule_for_the_project_alone_is_lost_on_a_restricted_child,
        a_question_is_answered,
        an_interrupt_ends_the_turn_and_not_the_process,
        an_interrupt_before_the_turn_is_told,
        earlier_prompts_are_sent_along,
        a_failure_is_an_error_result_with_its_status,
        a_passing_failure_is_tried_again,
        a_broken_stream_is_sent_again,
        a_burst_of_deltas_arrives_whole,
        a_reply_waits_for_its_gate,
        an_unknown_model_is_refused_or_fails_the_turn,
    ];
    #[cfg(unix)]
    alone.extend(tests![protocol:
        the_variables_that_the_cli_sets_for_programs_are_known,
        a_cut_off_prompt_is_answered_under_another_id,
        a_run_leaves_nothing_outside_its_world,
    ]);
    #[cfg(target_os = "linux")]
    alone.extend(tests![protocol: an_interrupt_in_a_tool_ends_the_tool]);
    #[cfg(unix)]
    alone.extend(
        tests![asking: the_mode_alone_runs_without_asking, the_mode_lasts_for_one_process_of_a_conversation],
    );

    let mut under_the_engine = tests![
        turns:
            one_process_serves_every_turn,
            a_later_turn_is_sent_with_the_earlier_ones,
            a_turn_with_a_call_sends_what_changed,
            a_stream_arrives_whole,
            thinking_and_answer_are_items_of_their_own,
            an_interrupt_in_mid_text_keeps_text_and_process,
            an_interrupt_right_behind_the_prompt_counts,
            an_interrupt_counts_while_the_process_comes_up,
            a_failure_of_the_api_ends_the_turn_by_its_name,
            a_stream_that_broke_off_is_shown_once;
        attachments:
            documents_reach_the_model_and_are_counted_after_a_restart,
            a_large_document_reaches_the_model_whole;
        permissions:
            an_allowed_write_is_on_disk,
            what_was_edited_in_the_request_is_what_runs,
            a_denied_command_does_not_run_and_the_model_hears_why,
            a_denial_can_end_the_turn,
            an_allowed_rule_is_not_asked_again,
            a_second_answer_is_refused,
            an_interrupt_withdraws_the_request,
            requests_in_one_reply_are_all_answered,
            a_request_of_a_subagent_names_it,
            the_models_question_is_answered,
            a_plan_is_approved;
        removed_rules:
            a_removed_rule_is_asked_about_from_the_next_call,
            a_rule_of_the_session_is_taken_back,
            a_rule_that_an_answer_saved_is_found_and_its_undo_removes_exactly_that,
            the_commands_list_and_remove_rules;
        queue:
            five_prompts_go_in_order_one_at_a_time,
            a_queued_prompt_is_edited_or_withdrawn,
            a_prompt_that_goes_now_ends_the_turn,
            a_prompt_goes_into_the_turn,
            a_prompt_into_a_turn_without_a_tool_is_the_next_turn,
            an_interrupt_holds_the_queue_until_it_is_continued,
            identical_prompts_stay_two,
            the_end_of_input_finishes_the_queue;
        answers:
            a_rule_alone_lets_its_own_command_through,
            a_folder_alone_lets_nothing_through,
            the_mode_alone_lets_edits_through,
            several_choices_reach_the_model,
            words_instead_of_a_choice_reach_the_model,
            a_skipped_question_is_told_to_the_model,
            an_approved_plan_asks_for_each_edit,
            an_approved_plan_with_edits_accepted_asks_for_none,
            a_plan_sent_back_stays_a_plan_and_the_comments_are_heard,
            only_a_plan_can_be_approved;
        asking:
            an_agent_that_asks_is_not_accused,
            only_the_rules_that_count_are_listed,
            settings_do_not_turn_asking_off,
            no_switch_leads_to_running_without_asking;
        settings:
            accept_edits_writes_unasked,
            a_mode_that_does_not_exist_is_refused,
            another_model_answers_the_next_prompt,
            a_model_that_does_not_exist_is_refused_or_fails_the_turn,
            model_and_mode_are_given_at_the_start,
            another_effort_is_in_the_next_request,
            a_prompt_right_after_a_change_carries_it,
            an_effort_that_does_not_exist_is_refused,
            thinking_is_switched_off_and_on_where_the_model_can,
            a_model_that_always_thinks_is_not_told_to_stop;
        api:
            a_lasting_failure_tells_each_try_and_then_the_status,
            a_rate_limit_is_named,
            a_used_up_allowance_says_when_it_resets,
            an_api_that_is_down_is_told_as_unreachable,
            a_connection_that_always_breaks_is_told_as_unreachable,
            a_refused_key_is_no_login,
            without_a_login_nothing_is_sent_and_it_is_said,
            an_unknown_model_is_named,
            a_conversation_that_does_not_fit_says_what_to_do,
            a_conversation_that_the_api_finds_too_long_says_what_to_do,
            an_api_that_hangs_leaves_the_user_in_charge,
            a_retry_can_be_interrupted;
        commands:
            compacting_is_told_and_the_conversation_goes_on,
            a_full_context_is_compacted_by_itself,
            clearing_begins_another_conversation_in_the_same_process,
            the_agent_says_what_fills_its_context,
            a_command_that_the_agent_answers_itself_is_shown,
            a_command_that_works_only_in_a_terminal_is_said_to_be_unavailable;
        side_questions:
            a_side_question_is_answered_during_a_turn_and_leaves_the_conversation_as_it_is,
            a_side_question_is_cancelled_and_one_that_fails_says_why;
        tools:
            an_answered_question_shows_its_answers_live_and_stored,
            an_image_and_a_pdf_that_were_read_are_named,
            a_notebook_edit_shows_its_cell_and_the_difference;
        background:
            the_end_of_a_background_shell_starts_a_turn_that_nobody_asked_for,
            a_background_shell_is_stopped_by_its_id,
            a_stop_leaves_a_subagent_in_the_background_running,
            a_running_command_is_moved_to_the_background,
            a_prompt_that_meets_an_unasked_turn_has_a_turn_of_its_own;
        recordings:
            plain_text, thinking, tools_allowed, tool_denied, question, plan, subagent, interrupt, background_shell,
            compact, clear, api_failures, rate_limit, resumed_by_id, queue, image, web_search;
        stored:
            a_reopened_conversation_shows_what_it_showed_live,
            sessions_in_odd_folders_are_found_continued_and_never_written_to,
            sessions_of_a_moved_folder_are_listed_found_and_continued,
            what_a_terminal_adds_appears_and_is_followed;
        fork:
            a_fork_goes_its_own_way_and_leaves_the_original_as_it_was,
            a_conversation_that_is_open_elsewhere_can_be_forked,
            a_title_is_written_by_the_agent,
            a_title_that_the_agent_cannot_make_is_said,
            a_title_is_generated_once_and_is_in_the_agents_file;
        rewind:
            files_are_restored_byte_by_byte_and_the_undo_too,
            files_and_conversation_go_back_together_and_return,
            the_first_prompt_leaves_nothing_and_the_undo_brings_it_back,
            after_a_resume_files_are_restored_all_the_same,
            a_change_by_hand_in_between_is_rewound_and_undone_and_one_after_it_is_asked_about,
            a_branch_has_its_own_checkpoints,
            a_working_agent_is_not_rewound;
        options:
            a_system_prompt_is_appended_or_replaces_the_agents_own,
            denied_tools_are_not_offered_and_allowed_ones_run_unasked,
            a_limit_of_turns_and_a_budget_end_the_turn_in_words,
            a_fallback_model_takes_over,
            an_added_folder_brings_nothing_of_its_own,
            a_resumed_session_has_its_options_and_a_changed_system_prompt,
            an_argument_that_this_version_does_not_know_is_named;
    ];
    let measured = tests![overhead: a_later_turn_costs_less_than_a_quarter_of_a_fresh_process];
    under_the_engine.extend(measured.into_iter().map(suite::Test::alone));
    #[cfg(unix)]
    under_the_engine.extend(tests![
        api:
            the_limit_of_turns_is_named,
            a_used_up_budget_is_named;
        recordings:
            killed_and_resumed,
            mcp_tool;
        tools: a_servers_tool_is_shown_by_its_display_name;
        forms: a_servers_form_is_filled_in_and_checked, a_servers_form_is_declined,
            a_servers_page_is_shown_and_agreed_to, a_dialog_of_the_agent_is_answered;
        options: a_folder_an_mcp_config_and_a_variable_reach_the_agent;
        configuration:
            all_parts_of_the_configuration_are_reported,
            a_server_is_turned_off_and_on_and_connected_to_again;
        inbox:
            a_restricted_session_neither_lists_nor_messages_others,
            no_session_receives_a_message,
            a_message_of_another_session_is_shown_with_its_sender,
            a_held_message_is_let_in_or_refused;
        hooks:
            hooks_are_shown_by_what_they_did,
            a_call_says_that_a_hook_allowed_or_denied_it,
            a_slow_hook_is_shown_while_it_runs,
            each_heartbeat_of_a_slow_hook_is_a_sign_of_life,
            a_prompt_that_a_hook_blocks_is_reported_once,
            hooks_of_a_folder_that_is_not_trusted_neither_run_nor_show;
        cost: every_turn_pays_for_itself, turns_with_several_models_add_up_to_what_the_agent_says,
            a_resumed_conversation_is_not_billed_for_its_past,
            what_another_process_spent_is_counted_once, a_fork_pays_for_its_own_turns;
        crash:
        a_killed_agent_resumes_the_session_with_the_next_prompt,
        a_prompt_cut_off_is_held_and_sent_again_only_when_asked,
        a_killed_agent_withdraws_its_request,
        a_prompt_is_kept_when_the_agent_is_killed_at_its_first_request,
        what_was_written_before_a_kill_stays_and_the_session_goes_on,
        a_session_is_resumed_by_its_id,
        an_unknown_session_is_told;
        owner: a_live_conversation_is_not_resumed, a_turn_tells_what_it_cost,
    ]);
    #[cfg(target_os = "linux")]
    under_the_engine.extend(tests![
        turns: an_interrupt_in_a_tool_ends_the_tool;
        background:
            a_command_has_the_low_priority_of_its_agent,
            a_background_shell_ends_with_its_session,
            the_output_of_a_background_shell_is_read_while_it_grows;
        configuration: the_error_output_of_a_failed_server_is_shown;
        far: a_session_runs_where_the_code_is,
            a_folder_is_trusted_and_a_turn_is_rewound_there;
        schedules: planned_turns_are_listed_until_they_are_cancelled,
            the_schedule_of_a_restricted_folder_starts_no_turn,
            a_monitor_is_shown_as_one_and_each_of_its_turns_says_so;
        hibernation: an_agent_that_hibernates_gives_its_memory_back_and_goes_on;
        crash:
            a_tool_ends_with_its_killed_agent_and_is_shown_as_cut_off,
            nothing_outlives_a_killed_relay;
    ]);

    #[cfg(target_os = "linux")]
    {
        let slow = tests![schedules: planned_turns_begin_in_an_idle_process_which_hibernates_after_the_last];
        under_the_engine.extend(slow.into_iter().map(|test| test.within(Duration::from_secs(300)).idle()));
    }

    // Each of these starts an agent in many folders.
    let within_all = |test: suite::Test| test.within(hostile::ALL);
    alone.extend(tests![hostile: the_cli_alone_gives_the_key_to_the_folders_address]);
    #[cfg(unix)]
    under_the_engine.extend(tests![doctor:
        the_cli_asks_before_it_acts,
        a_cli_that_ignores_the_flag_is_found_out,
        a_cli_that_allows_by_itself_is_found_out,
    ]);
    under_the_engine.extend(tests![hostile:
        a_decision_counts_until_a_byte_changes,
        a_kept_rule_is_no_change_that_is_asked_about,
    ]);
    let hostile_under_the_engine =
        tests![hostile: no_folder_gets_its_way_under_the_engine, a_trusted_folder_gets_its_way];
    under_the_engine.extend(hostile_under_the_engine.into_iter().map(within_all).map(watching));
    #[cfg(unix)]
    under_the_engine.extend(tests![hostile: git_runs_nothing_of_a_restricted_folder]);
    alone.extend(tests![trust: the_settings_of_this_version_are_known]);
    alone.extend(tests![rules: a_rule_in_the_copy_is_as_strict_as_in_the_folder].into_iter().map(within_all));
    #[cfg(unix)]
    alone.extend(tests![rules: a_rule_holds_in_a_folder_with_any_name].into_iter().map(within_all));
    under_the_engine.extend(tests![trust: a_trusted_folder_has_all_that_it_says]);
    alone.extend(tests![
        front_matter: a_document_is_loaded_as_it_is_shown;
        plugins: a_plugin_of_a_folder_is_left_out_and_said_to_be;
    ]);
    #[cfg(unix)]
    alone.extend(tests![imports: an_import_is_loaded_as_it_is_shown]);
    let changes = tests![trust: a_change_takes_effect_only_with_the_answer];
    under_the_engine.extend(changes.into_iter().map(within_all));

    let cli = Cli::requirement();
    let app = relay::requirement();
    let alone = alone.into_iter().map(|test| test.needing(cli.clone()));
    let under_the_engine =
        under_the_engine.into_iter().map(|test| test.needing(cli.clone()).needing(app.clone()));
    let old = on_the_old_version().into_iter().map(|test| test.needing(app.clone()));
    #[cfg(target_os = "linux")]
    let shells = tests![login_shells:
        each_shell_gives_the_environment_of_the_users_files,
        a_shell_that_becomes_another_one_ends_in_time,
    ];
    #[cfg(target_os = "linux")]
    let old = old.chain(shells.into_iter().map(|test| test.needing(login_shells::requirement())));
    suite::run(Requirement::Met, suite::N_THREADS, alone.chain(under_the_engine).chain(old).collect())
}

/// A test that records sockets, where that is possible.
fn watching(test: suite::Test) -> suite::Test {
    #[cfg(target_os = "linux")]
    return test.needing(deskbell_tests::sockets::SocketWatch::requirement());
    #[cfg(not(target_os = "linux"))]
    test
}

/// Behaviour that could differ between versions: failures, an interrupt, a crash, and commands that change a
/// conversation.
fn on_the_old_version() -> Vec<suite::Test> {
    let mut chosen = tests![
        protocol:
            initialize_is_answered_before_any_prompt,
            a_rule_for_project_and_session_is_not_asked_again,
            an_interrupt_before_the_turn_is_told;
        attachments: documents_reach_the_model_and_are_counted_after_a_restart;
        turns:
            one_process_serves_every_turn,
            a_stream_arrives_whole,
            an_interrupt_in_mid_text_keeps_text_and_process,
            an_interrupt_right_behind_the_prompt_counts,
            a_failure_of_the_api_ends_the_turn_by_its_name,
            a_stream_that_broke_off_is_shown_once;
        removed_rules: a_removed_rule_is_asked_about_from_the_next_call, a_rule_of_the_session_is_taken_back,
            a_rule_that_an_answer_saved_is_found_and_its_undo_removes_exactly_that;
        permissions:
            an_allowed_write_is_on_disk,
            a_denied_command_does_not_run_and_the_model_hears_why,
            an_interrupt_withdraws_the_request,
            the_models_question_is_answered,
            a_plan_is_approved;
        queue:
            five_prompts_go_in_order_one_at_a_time,
            the_end_of_input_finishes_the_queue;
        options:
            a_system_prompt_is_appended_or_replaces_the_agents_own,
            denied_tools_are_not_offered_and_allowed_ones_run_unasked,
            a_limit_of_turns_and_a_budget_end_the_turn_in_words,
            a_fallback_model_takes_over,
            an_added_folder_brings_nothing_of_its_own,
            a_resumed_session_has_its_options_and_a_changed_system_prompt,
            an_argument_that_this_version_does_not_know_is_named;
        settings:
            a_model_that_does_not_exist_is_refused_or_fails_the_turn;
        api:
            a_used_up_allowance_says_when_it_resets,
            an_api_that_is_down_is_told_as_unreachable,
            without_a_login_nothing_is_sent_and_it_is_said,
            a_conversation_that_the_api_finds_too_long_says_what_to_do,
            an_api_that_hangs_leaves_the_user_in_charge;
        commands:
            compacting_is_told_and_the_conversation_goes_on,
            a_full_context_is_compacted_by_itself,
            clearing_begins_another_conversation_in_the_same_process,
            the_agent_says_what_fills_its_context,
            a_command_that_works_only_in_a_terminal_is_said_to_be_unavailable;
        side_questions:
            a_side_question_is_answered_during_a_turn_and_leaves_the_conversation_as_it_is,
            a_side_question_is_cancelled_and_one_that_fails_says_why;
        background:
            the_end_of_a_background_shell_starts_a_turn_that_nobody_asked_for;
        stored: a_reopened_conversation_shows_what_it_showed_live;
        rewind:
            files_are_restored_byte_by_byte_and_the_undo_too,
            files_and_conversation_go_back_together_and_return,
            the_first_prompt_leaves_nothing_and_the_undo_brings_it_back,
            after_a_resume_files_are_restored_all_the_same,
            a_change_by_hand_in_between_is_rewound_and_undone_and_one_after_it_is_asked_about,
            a_branch_has_its_own_checkpoints;
    ];
    #[cfg(unix)]
    chosen.extend(tests![
        protocol: a_cut_off_prompt_is_answered_under_another_id;
        options: a_folder_an_mcp_config_and_a_variable_reach_the_agent;
        configuration:
            all_parts_of_the_configuration_are_reported,
            a_server_is_turned_off_and_on_and_connected_to_again;
        hooks:
            hooks_are_shown_by_what_they_did,
            a_call_says_that_a_hook_allowed_or_denied_it,
            a_slow_hook_is_shown_while_it_runs,
            a_prompt_that_a_hook_blocks_is_reported_once,
            hooks_of_a_folder_that_is_not_trusted_neither_run_nor_show;
        cost: every_turn_pays_for_itself, turns_with_several_models_add_up_to_what_the_agent_says,
            a_resumed_conversation_is_not_billed_for_its_past,
            a_fork_pays_for_its_own_turns;
        crash:
            a_killed_agent_resumes_the_session_with_the_next_prompt,
            a_prompt_cut_off_is_held_and_sent_again_only_when_asked,
            a_prompt_is_kept_when_the_agent_is_killed_at_its_first_request,
    ]);
    let mut chosen: Vec<suite::Test> = chosen.into_iter().map(suite::Test::sampled).collect();
    chosen.extend(tests![trust: a_trusted_folder_has_all_that_it_says; front_matter: a_document_is_loaded_as_it_is_shown;
        plugins: a_plugin_of_a_folder_is_left_out_and_said_to_be]);
    #[cfg(unix)]
    chosen.extend(tests![imports: an_import_is_loaded_as_it_is_shown]);
    let within_all = |test: suite::Test| test.within(hostile::ALL);
    let in_many_folders = tests![
        trust: a_change_takes_effect_only_with_the_answer;
        rules: a_rule_in_the_copy_is_as_strict_as_in_the_folder;
    ];
    chosen.extend(in_many_folders.into_iter().map(within_all));
    let hostile_folders =
        tests![hostile: no_folder_gets_its_way_under_the_engine, a_trusted_folder_gets_its_way];
    chosen.extend(hostile_folders.into_iter().map(within_all).map(watching));
    let needs = Requirement::from(&Cli::find_old().map(drop));
    let on_it = |test: suite::Test| {
        test.needing(needs.clone()).inside("old", |body| Box::pin(async { Cli::find_old()?.run(body).await }))
    };
    chosen.into_iter().map(on_it).collect()
}
