//! The real Claude Code CLI against the mock Messages API: first alone, then under Deskbell's engine.
//!
//! Needs `DESKBELL_TEST_CLAUDE`, and for the tests of the engine a built `deskbell`.

#[cfg(unix)]
mod crash;
mod hostile;
mod overhead;
mod permissions;
mod protocol;
mod queue;
mod settings;
mod turns;

use deskbell_tests::real_cli::Cli;
use deskbell_tests::{relay, suite, tests};

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
        a_cut_off_prompt_is_answered_under_another_id,
        a_run_leaves_nothing_outside_its_world,
    ]);
    #[cfg(target_os = "linux")]
    alone.extend(tests![protocol: an_interrupt_in_a_tool_ends_the_tool]);

    let mut under_the_engine = tests![
        turns:
            one_process_serves_every_turn,
            a_later_turn_is_sent_with_the_earlier_ones,
            a_stream_arrives_whole,
            thinking_and_answer_are_items_of_their_own,
            an_interrupt_in_mid_text_keeps_text_and_process,
            an_interrupt_right_behind_the_prompt_counts,
            an_interrupt_counts_while_the_process_comes_up,
            a_failure_of_the_api_ends_the_turn_by_its_name,
            a_stream_that_broke_off_is_shown_once;
        permissions:
            an_allowed_write_is_on_disk,
            what_was_edited_in_the_request_is_what_runs,
            a_denied_command_does_not_run_and_the_model_hears_why,
            a_denial_can_end_the_turn,
            an_allowed_rule_is_not_asked_again,
            a_second_answer_is_refused,
            an_interrupt_withdraws_the_request,
            requests_in_one_reply_are_all_answered,
            the_models_question_is_answered,
            a_plan_is_approved;
        queue:
            prompts_go_in_order_one_at_a_time,
            a_queued_prompt_is_edited_or_withdrawn,
            identical_prompts_stay_two,
            the_end_of_input_finishes_the_queue;
        settings:
            accept_edits_writes_unasked,
            a_mode_that_does_not_exist_is_refused,
            another_model_answers_the_next_prompt,
            a_model_that_does_not_exist_is_refused_or_fails_the_turn,
            model_and_mode_are_given_at_the_start;
        overhead:
            a_later_turn_costs_less_than_a_quarter_of_a_fresh_process;
    ];
    #[cfg(unix)]
    under_the_engine.extend(tests![crash:
        a_killed_agent_resumes_the_session_with_the_next_prompt,
        a_prompt_cut_off_is_held_and_sent_again_only_when_asked,
        a_killed_agent_withdraws_its_request,
        a_session_is_resumed_by_its_id,
        an_unknown_session_is_told,
    ]);
    #[cfg(target_os = "linux")]
    under_the_engine.extend(tests![
        turns: an_interrupt_in_a_tool_ends_the_tool;
        crash: nothing_outlives_a_killed_relay;
    ]);

    // Each of these starts an agent in many folders.
    let within_all = |test: suite::Test| test.within(hostile::ALL);
    alone.extend(tests![hostile: the_cli_alone_gives_the_key_to_the_folders_address]);
    under_the_engine.extend(tests![hostile: a_decision_counts_until_a_byte_changes]);
    let hostile_under_the_engine =
        tests![hostile: no_folder_gets_its_way_under_the_engine, a_trusted_folder_gets_its_way];
    under_the_engine.extend(hostile_under_the_engine.into_iter().map(within_all));

    let app = relay::requirement();
    let under_the_engine = under_the_engine.into_iter().map(|test| test.needing(app.clone()));
    suite::run(Cli::requirement(), alone.into_iter().chain(under_the_engine).collect())
}
